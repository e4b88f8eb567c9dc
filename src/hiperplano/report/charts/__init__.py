"""Charts as inline SVG: scales, axes, marks. Colours come from the page, so that dark and light mode both work."""
