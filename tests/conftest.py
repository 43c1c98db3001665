"""What all tests share: the event loops, the Hypothesis profiles, and tests that need something extra.

A test that needs what not every machine has carries a marker of `NEEDS`. Where the thing is missing the test is
skipped; with `GRAPHFLOW_REQUIRE=all` in the environment, as in `.ci/run`, it fails instead: a green run there has
skipped none of them but those that `GRAPHFLOW_WITHOUT` names::

    @pytest.mark.needs_import_linter
    def test_layers(): ...
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings


class Need(NamedTuple):
    """Something a test may need: how it is called, and whether it is here."""

    what: str
    is_here: Callable[[], bool]


NEEDS = {
    "needs_import_linter": Need(
        "import-linter (the `dev` extra)", lambda: bool(importlib.util.find_spec("importlinter"))
    ),
    "needs_environments": Need(
        "the environments that `.ci/run` makes, in GRAPHFLOW_ENVIRONMENTS",
        lambda: bool(os.environ.get("GRAPHFLOW_ENVIRONMENTS")),
    ),
}


def _schema(name: str) -> bool:
    """Schemas of other people's formats are in the directory `GRAPHFLOW_SCHEMAS`; `.ci/run` puts them there."""
    return (Path(os.environ.get("GRAPHFLOW_SCHEMAS") or os.devnull) / name).is_file()


SARIF_SCHEMA, JUNIT_SCHEMA = "sarif-2.1.0-rtm.5.json", "jenkins-junit.xsd"
NEEDS |= {
    "needs_sarif_schema": Need(f"`{SARIF_SCHEMA}` in GRAPHFLOW_SCHEMAS", lambda: _schema(SARIF_SCHEMA)),
    "needs_junit_schema": Need(
        f"`{JUNIT_SCHEMA}` in GRAPHFLOW_SCHEMAS, and xmlschema (the `dev` extra)",
        lambda: _schema(JUNIT_SCHEMA) and bool(importlib.util.find_spec("xmlschema")),
    ),
}

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile(
    "long", deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_configure(config: pytest.Config) -> None:
    for marker, need in NEEDS.items():
        config.addinivalue_line("markers", f"{marker}: the test needs {need.what}")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, need in NEEDS.items():
        if item.get_closest_marker(marker) is None or need.is_here():
            continue
        message = f"needs {need.what}"
        lacking = os.environ.get("GRAPHFLOW_WITHOUT", "").split()
        if os.environ.get("GRAPHFLOW_REQUIRE") == "all" and marker not in lacking:
            pytest.fail(f"{message}, and GRAPHFLOW_REQUIRE=all allows no skip", pytrace=False)
        pytest.skip(message)


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Each asynchronous test runs on both event loops."""
    return str(request.param)
