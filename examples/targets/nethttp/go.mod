module nethttp

go 1.19
