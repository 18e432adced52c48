"""What do drivers dislike? A road network and trips in CSV files.

Run it:  boirl run problem.py --evaluations 30 --out results
"""

from pathlib import Path

import boirl

# links.csv (link, time), turns.csv (from, to, angle), destinations.csv (destination, link) and
# trips.csv (trip, destination, position, link); further columns are attributes of links and turns.
town = Path(__file__).parent / "town"
network, trips = boirl.load_road_network(town, angles="degrees")

# What a driver may dislike, and bounds for how much: travel time, left turns, and an attribute of
# links.csv. Leave utilities out for the weights of Fosgerau, Frejinger and Karlstrom.
utilities = {"time": (-4, 0), "left": (-4, 0), "hills": (-4, 0)}
problem = boirl.recursive_logit_problem(network, trips, utilities=utilities)

if __name__ == "__main__":
    print(boirl.explore(problem, evaluations=30, progress=True))
