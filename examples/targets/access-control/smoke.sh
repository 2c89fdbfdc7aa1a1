answers 401 GET /pick 'X-Api-Key'
answers 401 GET /pick 'X-Api-Key' 'X-Api-Key: nobody'
answers 200 GET /pick '"cards"' 'X-Api-Key: key-of-the-shop'
answers 200 GET /pick '"cards"' 'X-Api-Key: key-of-a-guest'
loaded /pick -H 'X-Api-Key: key-of-the-shop'
# More at once than the burst allows.
refused 429 /pick -H 'X-Api-Key: key-of-a-guest'
