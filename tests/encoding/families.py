"""What tests of the families of encodings share."""

import pytest


def message(function, *args, **options):
    """The text of the error that a call raises."""
    with pytest.raises(ValueError) as caught:
        function(*args, **options)
    return str(caught.value)


def bias_of(encoding, lags):
    """What an encoding adds to the logits at some lags."""
    assert encoding.bias is not None
    return encoding.bias(lags)
