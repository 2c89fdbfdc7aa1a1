-- A script that defines no function.
wrk.headers["X-Scripted"] = "yes"
