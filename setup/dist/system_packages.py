"""Prints the Debian packages that the workers of an installed wheel load or run, each line a set that belongs together.

A release may lack one of two: a worker that comes for two versions of its library names the packages of both.
"""

from middlemark.worker.executables import builds

for build in builds():
    for packages in (*build.packages, build.programs):
        if packages:
            print(*packages)
