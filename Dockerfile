FROM node:24-bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends git ca-certificates util-linux && rm -rf /var/lib/apt/lists/*
WORKDIR /echelon
COPY . .
RUN npm ci --ignore-scripts && node scripts/run.mjs build && chown -R node:node /echelon && install -d -o node -g node /data /workspaces
USER node
EXPOSE 4600
CMD ["node", "apps/server/dist/main.js"]
