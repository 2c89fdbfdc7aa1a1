#!/usr/bin/env bash
# Starts the card game with two workers under PM2, in the foreground. PORT (8080) is where.
source "$(dirname "$0")/../recipe.sh"

npm_packages
running_folder
echo "Node.js: http://127.0.0.1:$port/question, /answer?id=1&expression=…, /pick?count=5"
# PM2 keeps what it knows of its processes in a folder, by default in the user's home. It asks for newer versions of itself otherwise.
PM2_HOME="$state/pm2" PM2_DISABLE_VERSION_CHECK=true PORT=$port "$here/node_modules/.bin/pm2-runtime" start "$here/ecosystem.config.cjs" &
stay $!
