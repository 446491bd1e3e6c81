"""`python -m schedlab` is `schedlab`, with the interpreter of one's choice."""

from schedlab.cli import main

if __name__ == "__main__":
    main()
