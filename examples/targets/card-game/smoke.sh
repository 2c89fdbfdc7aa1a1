answers 200 GET /question '"cards"'
answers 200 GET "/answer?$(sed -n '2s/\([^,]*\),\(.*\)/id=\1\&expression=\2/p' "$targets/card-game/answers.csv" | sed 's/+/%2B/g')" '"right":true'
answers 200 GET '/answer?id=1&expression=1%2B1' '"right":false'
answers 400 GET '/answer?id=1&expression=process.exit()' 'expression'
answers 200 GET '/pick?count=52' '♠'
answers 400 GET '/pick?count=53' 'from 1 to 52'
loaded / --urls "$targets/card-game/urls.txt" --data-file "$targets/card-game/answers.csv"
