# The plan of docs/guide/case-studies/card-game.md. It needs urls.txt, what players ask for, and answers.csv, questions with right
# answers (node deck.js 200 > answers.csv).
cd "$targets/card-game"
serve card-game
loadline find "$url" --urls urls.txt --data-file answers.csv --data-order random \
    --slo 'p99 < 100ms' --slo 'failed < 0.1%' --quick --name card-game

# The rate it found, for half a minute; if it could not tell, the highest that it saw carried.
found=$(value card-game.find carries 2> /dev/null || value card-game.find capacity.low)
loadline run "$url" --urls urls.txt --data-file answers.csv --data-order random --rate "$found/s" -d 30s \
    --check 'p99 < 100ms' --check 'failed < 0.1%' --name card-game-at-the-rate
