answers 200 GET '/get_result?a=10&b=20' '"result":30'
answers 400 GET '/get_result?a=ten' 'whole numbers'
loaded '/get_result?a=10&b=20'
