"""Writes special-functions.json: erfc and igamc by mpmath at 50 digits, 20 of them kept.

    pip install mpmath==1.3.0
    python3 generate-special-functions.py > special-functions.json

The arguments are doubles, so that the reference is for exactly the number the test passes on.
"""

import json

from mpmath import erfc, gammainc, inf, mp, mpf, nstr, sqrt

mp.dps = 50
SMALLEST = mpf("1e-300")

# The a that occur: N/2, K/2, 1, 3, 2^(m-2) …; block frequency of 2^26 bits has a = 2^18.
A = [0.5, 1, 1.5, 2, 2.5, 3, 4, 7.5, 19.5, 20, 20.5, 64, 100.5, 512, 1024, 3906, 4096, 8192,
     16384, 32768, 65536, 262144]
# Standard deviations from a at which x lies.
DEVIATIONS = [-8, -5, -3, -1, -0.1, 0, 0.001, 0.1, 0.5, 1, 1.5, 2, 3, 5, 8, 12, 20, 30, 36]


def igamc(a, x):
    return gammainc(mpf(a), mpf(x), inf, regularized=True)


def igamc_rows():
    for a in A:
        arguments = {float(a + s * sqrt(a)) for s in DEVIATIONS}
        arguments |= {a / 4, a + 0.9999, a + 1, a + 1.0001, 2.0 * a, 4.0 * a, 100.25, 600.5}
        for x in sorted(arguments):
            if x > 0 and igamc(a, x) > SMALLEST:
                yield [a, float(x), nstr(igamc(a, x), 20)]


def erfc_rows():
    below_zero = [-5.0, -1.25, -0.5, -0.0625]
    grid = [i / 8 + 1 / 3 for i in range(208)]
    edges = [1e-300, 1e-17, 1e-9, 1e-3, 0.03125, 0.25, 0.999999, 1.0, 1.000001, 26.0]
    for x in below_zero + sorted(grid + edges):
        if erfc(mpf(x)) > SMALLEST:
            yield [x, nstr(erfc(mpf(x)), 20)]


def lines(rows):
    return ",\n".join(json.dumps(row) for row in rows)


print('{"igamc":[\n' + lines(igamc_rows()) + '\n],"erfc":[\n' + lines(erfc_rows()) + "\n]}")
