"""What the page says, one file for each section: figures in, blocks out."""
