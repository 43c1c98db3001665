"""How long is waited between two attempts, by tenacity's wait strategies (exponential, with jitter).

The machine counts attempts and decides; the driver asks here how long, journals the answer and waits::

    wait_before(RetryPolicy(backoff=1, factor=2, jitter=0), attempt=3)      # 4.0: seconds after the third attempt
"""

from __future__ import annotations

from graphflow.contracts.retry import RetryPolicy


def wait_before(policy: RetryPolicy, attempt: int) -> float:
    """Seconds between an attempt that failed and the next one.

    Args:
        policy: the policy.
        attempt: the attempt that failed, from 1.
    """
    from tenacity import RetryCallState, wait_exponential, wait_random

    growing = wait_exponential(multiplier=policy.backoff, exp_base=policy.factor, max=policy.max_backoff)
    wait = growing + wait_random(0, policy.jitter)
    state = RetryCallState(retry_object=None, fn=None, args=(), kwargs={})  # type: ignore[arg-type]
    state.attempt_number = attempt
    return float(wait(state))
