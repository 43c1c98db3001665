"""`--update-data`: write what the product does now into the golden cases. Read every changed line before committing."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-data", action="store_true", help="rewrite the golden cases instead of comparing")
