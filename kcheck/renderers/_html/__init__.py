"""What the page of `fleet report` is made of."""
