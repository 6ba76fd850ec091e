# One image for every part: the application, the gateway, and the CometBFT node, which differ in the command alone.
# Its stages keep to what the classic builder knows.
ARG GO_IMAGE=golang:1.26-bookworm
ARG NODE_IMAGE=node:24-bookworm-slim

# Go checks the module and all that it needs against its checksum database.
FROM ${GO_IMAGE} AS cometbft
ARG COMETBFT_VERSION=0.38.25
RUN CGO_ENABLED=0 go install -trimpath -ldflags '-s -w' github.com/cometbft/cometbft/cmd/cometbft@v${COMETBFT_VERSION}

FROM ${NODE_IMAGE} AS build
WORKDIR /svcd
COPY package.json package-lock.json ./
# Why not npm ci: it compiles better-sqlite3 from source.
RUN npm install --no-save --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
COPY . .
RUN node tools/build.ts && npm prune --omit=dev --no-save --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error

FROM ${NODE_IMAGE}
COPY --from=cometbft /go/bin/cometbft /usr/local/lib/cometbft
# Source: src/comet/goMaxProcs.ts, with which a test compares it.
RUN printf '%s\n' '#!/bin/sh' '[ "$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)" -ge 4 ] || export GOMAXPROCS="${GOMAXPROCS:-4}"' \
  'exec /usr/local/lib/cometbft "$@"' >/usr/local/bin/cometbft && chmod 755 /usr/local/bin/cometbft
COPY --from=build /svcd/node_modules /svcd/node_modules
COPY --from=build /svcd/package.json /svcd/package.json
COPY --from=build /svcd/cometbft-config /svcd/cometbft-config
COPY --from=build /svcd/dist /svcd/dist
# A named volume takes the owner of the folder that it is first mounted on.
RUN ln -s /svcd/dist/cli/svcd.js /usr/local/bin/svcd && mkdir /chain && chown node:node /chain
ENV NODE_ENV=production SVCD_HOME=/chain CMTHOME=/chain
USER node
WORKDIR /chain
CMD ["svcd", "--help"]
