# redisched and its examples; docker-compose.yml says what each container runs.
FROM python:3.13-slim
RUN useradd --create-home redisched
WORKDIR /app
COPY pyproject.toml README.md ./
COPY redisched redisched
RUN pip install --no-cache-dir .
COPY examples examples
USER redisched
CMD ["redisched", "--help"]
