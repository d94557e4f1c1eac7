# The bot as an image. Nothing in it is written to but /var/lib/stagecoach (mirrors of the config repos: a cache) and /tmp, so
# it runs with a read-only root file system and as nobody in particular.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json ./
RUN npm ci --ignore-scripts
COPY app.yml README.md CHANGELOG.md ./
COPY rollouts ./rollouts
COPY schema ./schema
COPY docs ./docs
COPY fixtures/fleet ./fixtures/fleet
COPY deploy/package ./deploy/package
COPY src ./src
# Git's history is not here to ask.
ARG COMMIT=""
ARG COMMIT_DATE=""
RUN STAGECOACH_COMMIT="$COMMIT" STAGECOACH_COMMIT_DATE="$COMMIT_DATE" npm run build

FROM node:24-slim
# git reads and writes the config repos, the certificates are what it and Node trust. Both as the distribution keeps them.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates git \
 && rm -rf /var/lib/apt/lists/* \
 && install -d -o node -g node /var/lib/stagecoach
WORKDIR /app
# The program is bundled with what it uses of its libraries: there is nothing else to take along.
COPY --from=build /app/dist .
ENV NODE_ENV=production \
    STAGECOACH_DIRECTORY=/var/lib/stagecoach
# By number, so that Kubernetes can see that it is not root.
USER 1000:1000
# GitHub's deliveries; the page and the metrics, which are nobody else's business.
EXPOSE 3000 3001
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
# What is young is collected sooner, and what is old whenever there is half as much again as lived in it: V8 by itself let 70 to 130 MB of garbage stand in a server
# that is mostly idle. A third less memory, at no cost that could be measured.
ENTRYPOINT ["node", "--max-semi-space-size=4", "--initial-old-space-size=64", "--heap-growing-percent=50", "stagecoach.mjs"]
CMD ["serve"]
