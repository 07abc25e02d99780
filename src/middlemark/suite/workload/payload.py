"""What messages hold, and how it is serialised: octets, or one of the types that robots and cars send.

Which serialisations a middleware has, and which of them is its own, its worker says; which sizes a type can have in
each, the worker's runtime knows.
"""

from enum import StrEnum

IMU_BYTES = 380
"""The one size of an inertial measurement, header included, whatever serialises it."""


class Payload(StrEnum):
    """What a message holds behind its header."""

    OCTETS = "octets"
    """Random bytes, which nothing serialises."""
    IMU = "imu"
    """An inertial measurement, as ROS 2's `sensor_msgs/Imu`, of one size."""
    IMAGE = "image"
    """As `sensor_msgs/Image`: its pixels fill the message up to its size."""
    POINT_CLOUD = "point_cloud"
    """As `sensor_msgs/PointCloud2`: its points do."""


class Serialisation(StrEnum):
    """How a message of a type becomes bytes."""

    CDR = "cdr"
    """As DDS and ROS 2 have it."""
    PROTOBUF = "protobuf"
    """Protocol Buffers."""
    SOMEIP = "someip"
    """SOME/IP's own."""
    PLAIN = "plain"
    """Not at all: a structure of fixed size with its data behind it, written and read where it lies."""
