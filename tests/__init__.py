"""The tests. NumPy has one thread in each process: the workers share the cores already, and threads that wait burn them."""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
