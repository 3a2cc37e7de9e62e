"""`python -m redisched`, the same as the console script."""

from redisched.cli.main import main

if __name__ == "__main__":
    main()
