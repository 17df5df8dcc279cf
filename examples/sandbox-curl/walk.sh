#!/usr/bin/env bash
# A contract's life with nothing but curl. Start the sandbox in another terminal, then give this shell what it printed
# as Base URL, Client id and Client secret:
#   export BASE=http://127.0.0.1:4010 CLIENT_ID=sandbox-client CLIENT_SECRET=…
set -euo pipefail
: "${BASE:?is not set. Start the sandbox, then: export BASE=… with the Base URL that it printed}"
: "${CLIENT_ID:?is not set. Start the sandbox, then: export CLIENT_ID=… with the Client id that it printed}"
: "${CLIENT_SECRET:?is not set. Start the sandbox, then: export CLIENT_SECRET=… with the Client secret that it printed}"

# Get a token.
TOKEN=$(curl -s $BASE/connect/token -d grant_type=client_credentials -d client_id=$CLIENT_ID \
  -d client_secret=$CLIENT_SECRET | sed 's/.*"access_token":"\([^"]*\)".*/\1/')
AUTH="Authorization: Bearer $TOKEN"
JSON="Content-Type: application/json"

# Where do webhooks go? To your app, if you started the sandbox with `--webhook-url`. If there is no URL yet, use the
# sandbox's own receiver. It accepts everything.
curl -s $BASE/apps/api/webhooks -H "$AUTH" | grep -o '"webhookUrl":"[^"][^"]*"' ||
  curl -s $BASE/apps/api/webhooks -H "$AUTH" -H "$JSON" -d '{"webhookUrl":"'$BASE'/_sandbox/sink"}'

# Create a contract with two milestones.
CREATED=$(curl -s $BASE/apps/api/contracts -H "$AUTH" -H "$JSON" -d '{
  "title": "Website", "contractServiceType": "Service", "amount": 1000, "reference": "order-77",
  "BuyerParty": { "phoneNumber": "+966500000001", "firstName": "Alia", "lastName": "Hassan" },
  "SellerParty": { "phoneNumber": "+966500000002", "firstName": "Badr", "lastName": "" },
  "Milestones": [
    { "Name": "Design", "Amount": 600, "DueDate": "2027-03-01T00:00:00Z" },
    { "Name": "Build", "Amount": 400, "DueDate": "2027-04-01T00:00:00Z" } ] }')
ID=$(echo "$CREATED" | grep -o 'CNT-[0-9]*-[0-9]*' | head -1)
CHECKOUT=$(echo "$CREATED" | sed 's/.*"checkoutUrl":"\([^"]*\)".*/\1/')
echo "$ID is $(echo "$CREATED" | sed 's/.*"status":"\([a-z]*\)","contractServiceType".*/\1/')"

# Pay: open the checkout page in a browser and press Pay. The button sends the request below. The answer is 303, which leads to the
# result page.
curl -s -o /dev/null -w '%{http_code}\n' "$CHECKOUT" -d token=${CHECKOUT#*token=} -d result=success

# The buyer raises a dispute. The service has no endpoint for a dispute. The control page has a button.
curl -s -X POST $BASE/_sandbox/contracts/$ID/dispute | grep -o '"status":"[A-Z][A-Za-z]*"' | head -1

# Refund one milestone. Then let the bank pay.
MILESTONE=$(echo "$CREATED" | grep -o '"milestones":\[{"id":[0-9]*' | grep -o '[0-9]*$')
REFUNDED=$(curl -s $BASE/apps/api/contracts/$ID/refund -H "$AUTH" -H "$JSON" \
  -d '{"milestoneId":'$MILESTONE',"reason":"Not as described"}')
echo "$REFUNDED"
REFUND=$(echo "$REFUNDED" | sed 's/.*"refundId":\([0-9]*\).*/\1/')
curl -s -X POST $BASE/_sandbox/refunds/$REFUND/settle | grep -o '"state":"[a-z]*"'

# A contract is cancelled when one of its milestones was refunded.
curl -s $BASE/apps/api/contracts/$ID -H "$AUTH" | grep -o '"status":"[a-z]*"'

# Read the webhooks, here or on the control page. Each has exactly the bytes that were signed.
curl -s -X POST $BASE/_sandbox/deliveries/idle -o /dev/null
curl -s $BASE/_sandbox/deliveries | grep -o '"event":"[a-z.-]*","contractId":"[^"]*","milestoneId":[^,]*,"state":"[a-z]*"'

# Read the service's own delivery log.
curl -s "$BASE/apps/api/webhooks/logs?pageSize=1" -H "$AUTH"
