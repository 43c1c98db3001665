"""Pipelines that ship with graphflow: complete, offline, checked and run by the tests.

`graphflow demo` runs the first of them, `graphflow.examples.invoice:flow`.
"""
