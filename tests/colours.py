"""Colours as a reader's eyes take them."""


def contrast(one, other):
    """WCAG's contrast of two colours, #rrggbb."""

    def luminance(code):
        shares = (int(code[place : place + 2], 16) / 255 for place in (1, 3, 5))
        linear = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
        return sum(
            part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True)
        )

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
