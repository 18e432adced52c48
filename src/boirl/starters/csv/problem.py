"""What does a walker care about? Everything in CSV files, with names.

Run it:  boirl run problem.py --evaluations 30 --out results
"""

from pathlib import Path

import boirl

HERE = Path(__file__).parent

# moves.csv: state, action, next_state and, where steps are not certain, probability.
mdp = boirl.TabularMDP.from_table(HERE / "moves.csv", gamma=0.9)

# houses.csv: state, and a column for each parameter. Bounds for the weight of each.
bounds = {"shade": (0, 3), "noise": (-3, 0), "bakery": (0, 5)}
reward = boirl.LinearReward.from_table(HERE / "houses.csv", bounds, mdp.state_names)

# walks.csv: episode, step, state, action. Pass gaps="split" where steps are missing.
walks = boirl.Demonstrations.from_table(HERE / "walks.csv")

problem = boirl.TabularProblem(mdp, reward, walks, name="street")

if __name__ == "__main__":
    print(boirl.explore(problem, evaluations=30, progress=True))
