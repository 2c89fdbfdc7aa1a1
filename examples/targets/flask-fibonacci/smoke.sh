answers 200 GET '/fibonacci?n=20' '"fibonacci":6765'
answers 400 GET '/fibonacci?n=31' 'from 0 to 30'
loaded '/fibonacci?n={{random 5 15}}'
leave_server
serve flask-fibonacci CACHE=on
answers 200 GET '/fibonacci?n=20' '"fibonacci":6765'
answers 200 GET '/fibonacci?n=20' '"fibonacci":6765'
