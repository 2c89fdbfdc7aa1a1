# The plan of docs/guide/case-studies/flask-sum.md. It needs no files.
levels=1,10,20,50,100,200,500

serve flask-sum PROCESSES=20
# It listens before all of them are there.
until [ "$(group "$server" | wc -l)" -gt 20 ]; do
    kill -0 "$server"
    sleep 0.1
done
loadline sweep "$url/get_result?a=10&b=20" --levels $levels --all-levels --warmup 500ms -d 4s --name flask-sum
leave_server

serve gin MIDDLEWARES=
loadline sweep "$url/get_result?a=10&b=20" --levels $levels --all-levels --warmup 500ms -d 4s --name gin-sum
leave_server
loadline diff "$out/flask-sum.json" "$out/gin-sum.json"
