"""Results as pictures: described once, drawn by Plotly on screen and Matplotlib on paper."""
