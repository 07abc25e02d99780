"""What names and numbers may be, wherever a model is read: in suites, in plans, and in what is stored of a run.

A name becomes a folder, a file or a host, and a number an index or a length: neither may be more than it is for.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,23}$")]
"""Of hosts, networks, applications, nodes, chains and workloads."""
MiddlewareName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
ProfileName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
OptionName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=80)]
TopologyName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,39}$")]
StreamName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,48}$")]
"""A topic's as letters, digits and `_`."""
ProcessName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}(#[1-9][0-9]{0,5})?$")]
"""An application's or a service's; of one that was started again, with the number of its start."""
ExperimentId = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}-[a-z][a-z0-9_]{0,23}-[A-Za-z][A-Za-z0-9_-]{0,39}-[0-9a-f]{8}$")
]
TrialId = Annotated[
    str,
    Field(
        pattern=r"^[0-9]{1,9}-[a-z][a-z0-9_]{0,31}-[a-z][a-z0-9_]{0,23}-[A-Za-z][A-Za-z0-9_-]{0,39}-[0-9a-f]{8}$",
    ),
]
"""The trial's number and its experiment's id: the name of its folder."""
SshTarget = Annotated[str, Field(pattern=r"^[A-Za-z0-9_\[][A-Za-z0-9_.:@%\[\]+-]{0,254}$")]
"""A name or an address for the SSH client; with a dash at its begin it would be an option."""
Address = Annotated[str, Field(pattern=r"^[A-Za-z0-9:][A-Za-z0-9_.:%-]{0,254}$")]

Count = Annotated[int, Field(ge=0, le=2**53)]
"""Of messages, packets, bytes: many of them summed are within 64 bits."""
Nanoseconds = Annotated[int, Field(ge=0, le=2**62)]
"""An instant or a time span: the difference of two is within 64 bits."""
SignedNanoseconds = Annotated[int, Field(ge=-(2**62), le=2**62)]
Index = Annotated[int, Field(ge=0, lt=2**16)]
"""The place of a publisher or subscriber, as samples have it."""
Share = Annotated[float, Field(ge=0, le=1)]
Hertz = Annotated[float, Field(gt=0, le=1e12)]
