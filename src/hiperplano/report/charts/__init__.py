"""Charts as inline SVG: scales, axes, marks. Colours are defined by the page, for dark and light mode."""
