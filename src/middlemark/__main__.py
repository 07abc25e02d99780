"""`python -m middlemark`: the program, where its command is not on the path."""

from middlemark.cli.main import main

if __name__ == "__main__":
    main()
