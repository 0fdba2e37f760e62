"""Sentences of our own with slots, filled with names of many countries: {first}, {last}, {full} and
{name} (any form) are people; {city}, {company}, {brand}, {month} … are not.

The same openings and endings go round the sentences of both lists, so that it is not they that
tell a name from none.
"""

import re
from collections.abc import Iterator

from scripts.name_model.corpora import NAME, ORGANISATION, PLACE, Span, Text
from scripts.name_model.fillers import Fillers

_PEOPLE = """
{name}
{name}
{first}
{full}
{full}.
{first} {number}
{full} {number}
{full} and {number}
{first} and {number}
{name} {code}
{name}, {number}
{last}, {first}
it's {name}
its {name}
sure, {name}
sure its {full}
yes, {full}
yeah it is {name}
name {name}
name is {name}
name: {name}
name - {full}
full name {full}
full name: {full}
Name: {full}, phone {number}
name {full} email {code}@{code}.com
name {first} and password {number}
my name is {name}
my name is {name} and my account number is {number}
my name is {full} and password is {number}
my name's {name}
myname is {name}
my name {name}
my full name is {full}
my good name is {name}
my first name is {first} and my last name is {last}
first name {first} last name {last}
First: {first}, Last: {last}
last name {last}
my last name is {last}
surname is {last}
i am {name}
i'm {name}
im {name}
I am {full}, a {role} from {city}
this is {name}
this is {name} from {company}
this is {full} speaking
{name} here
{first} here, I need help with my {thing}
{name} speaking, how can I help?
hi, i'm {name} and my {thing} doesn't work
hello this is {full} i want to book a flight to {city}
hi {first}
hi {first}, thanks for the {thing}
Hi {full}, your {thing} is ready
hey {first} can you look at the {thing}
hey {first} what's up
hello {first}, how are you today
hello {full}, thank you for contacting us
good morning {first}
good evening {name}, what can i do for you
Dear {first},
Dear {full},
Dear Mr. {last},
Dear Ms {last}, your {thing} has been approved.
thanks {first}
thanks a lot {first}!
thank you {name}
thank you, {first}, that helped
thx {first}
ok {first}
ok thanks {first}, bye
no problem {first}
bye {first}
welcome back, {first}!
nice to meet you {first}
sorry {first}, i was away
Best regards,\\n{full}
Kind regards\\n{name}
Regards,\\n{first}
Cheers,\\n{first}
Sincerely,\\n{full}\\n{role}, {company}
Thanks,\\n{first}
-- \\n{full}\\n{role}
- {first}
mr {last}
Mr. {last} called about the {thing}
mrs {last} is waiting for her {thing}
Dr. {last} moved the appointment to {day}
dr {full} signed it
Prof. {last} wants the {thing}
Miss {last} left a note
can i speak to {name}
can I talk to {first} please
could you put me through to {full}
is {first} there
is {first} available on {day}?
is {name} still working at {company}?
i talked to {first} yesterday
I spoke with {name} about my {thing}
i was chatting with {first} before
{first} told me that the {thing} would be free
{first} from {company} said so
{first} from billing asked me to call
the agent, {first}, was very kind
your colleague {name} promised me a {thing}
agent {first} joined the chat
{full} joined the chat
{first} has left the conversation
You are now chatting with {first}.
you're speaking with {first}, how may I help?
please ask {name} to call me back
ask {first} about the {thing}
tell {first} the {thing} is broken
let {first} know
ping {first} when it's done
cc {name}
cc: {first}, {full}
cc {first} and {first}
assign the {thing} to {name}
assigned to {full}
Reporter: {full}
Reviewed by {name}
Approved by: {full}
Signed-off-by: {full} <{code}@{code}.org>
Author: {full} <{code}@{code}.com>
From: {full}
To: {name}
Attn: {full}
Customer: {full}
Passenger {full}, seat {number}
patient {full} was admitted on {day}
contact person {full}
Emergency contact is {full}, my {role}
{full} | {role} | {company}
{full}, {role} at {company}
{full} ({role})
{role} {full} resigned on {day}
"name": "{full}",
{{"first_name": "{first}", "last_name": "{last}"}}
user={code} name={full}
{number},{full},{city},{number}
{full};{code}@{code}.net;{number}
ticket for {full} and {full}
two tickets please, for {first} and {first}
passengers are {full}, {full} and {full}
the booking is for {name}
booking under {name}
book a table under {name}
a table for {number} under the name {name}
table under the name of {full}
reservation for {name} on {day}
reservation under {full} at {number}
the reservation is under {last}
I have a room booked under {name}
cancel the dinner booking for {name}
please cancel the reservation of {name}
i made a booking under {first}, can you move it to {month} {number}
can i book it on behalf of {name}
it should be under {name}
make it under {first} please
put it under {full}
the name on the account is {full}
name on the card {full}
the account holder is {name}
the account is in the name of {full}
it is registered to {name}
change the name from {full} to {full}
it's spelled {last}
my passport says {full}
transfer {number} to {name}
transfer {number} dollars to {name} please
send {number} to {name} every {day}
i sent money to {name}
i want to send {number} to {full} on {day}
how much did i pay {name}
how much did I send to {name} last month
did i pay {name} in {month}
pay {first} {number} from my savings
set up a standing order to {name}
cancel the standing order to {full} for {number}
stop the direct debit to {name}
when does my standing order to {first} end
the payment to {name} hasn't gone through
make the same payment to {name}
resend the payment to {name}
that transfer was meant for {name}
i owe {first} {number}
has {name} paid me back
how much has {name} sent me
add {name} as a payee
open a joint account with {name}
remove {name} from my contacts
call {name}
call {first} at {number}
text {first} that I'm late
email {name} the {thing}
send the {thing} to {name}
send an email to {first} and {first}
remind me to call {first} on {day}
invite {name} to the meeting on {day}
schedule lunch with {first}
meeting with {name} at {number}
meet {name} in {city} on {day}
when is {first}'s birthday
what's {first}'s number
happy birthday {first}!
congratulations {first} and {first}
my friend {first} lives in {city}
my brother {first} has the same {thing}
my wife {name} needs a card too
my husband {first} lost his {thing}
my son {first} is {number} years old
my daughter's name is {first}
my mom {first} wants to travel to {city}
my boss {name} approved it
my coworker {first} deleted the {thing}
our new {role} is {name}
our {role}, {full}, will call you on {day}
the {role} {name} came late
i work for {name}
i'm with {first} now
{first} and i went to {city}
{first} and {first} are on the call
{first}, {first} and {first} will join
{name} is a {role} in {city}
{full} works as a {role} at {company}
{full} was born in {city} in {number}
{full} moved from {city} to {city}
{full} joined {company} in {month}
{company} appointed {full} as {role}
{company} was founded by {full} and {full} in {city}
"We are growing", said {full}, {role} of {company}.
according to {last}, the {thing} was fine
{last} et al. report the same
a film by {full} with {full} and {full}
I read a book by {full}
songs by {full}
the album was produced by {full}
{full} scored twice against {city}
{last} beat {last} in the final
{full} won in {city} on {day}
who is {full}?
did {full} play in that movie
i saw {full} on tv last {day}
{first} is right
{first} fixed the {thing}
{first} broke the {thing} again
{first} wrote the {thing}, {first} reviewed it
did {first} push the {thing}?
can {first} take a look
waiting for {first} to merge
i think {first} knows
{first} isn't here, try {first}
what does {first} say
{first}'s {thing} is locked
{name}'s email bounces
please reset {name}'s password
{first}: can you restart the {thing}
{first}: hello
user: my name is {name}
customer: {name}
agent: thank you {first}, one moment please
{first} > {first}: try it again
@{first} can you check
hey @{first}
+1 to what {first} said
lol {first}
omg {first} is here
{first}!!!
{first}?
no {first} not yet
where is {first}
have you met {first}?
do you know {name}
call me {first}
you can call me {first}
everyone calls me {first}
people know me as {name}
i go by {first}
is that you {first}?
on behalf of {full}
c/o {full}
ship it to {full}, {number} Main Street, {city}
deliver to {name} in {city}
{full}\\n{number} High Street\\n{city}
the parcel for {name} is lost
beneficiary: {full}
witness {full}
tenant {full}, landlord {full}
the {last} family
mr and mrs {last}
{first} & {first} {last}
sir, my name is {name} and i am from {city}
good afternoon i am {name} i need a {thing}
yes i am {name} from {city}
ok my name is {name} and zip code is {number}
{name} this is my name
name of the passenger {name}
the travellers name is {name} and age {number}
customer name {name} order {number}
i need to update the name {name} on my {thing}
{full} {code}@{code}.com {number}
hola {first}
gracias {first}
bonjour {first}
merci {first}
hallo {first}
namaste {first}
"""
_NOBODY = """
{thing}
{brand}
{city}
{company}
{month}
{number}
{code}
yes
no
ok
it's the {thing}
its {city}
sure, {day}
yeah it is the {brand}
name
name of the {thing}
what is the name of the {thing}?
what's your name
may i have your name please
can you tell me your full name?
my name is wrong on the {thing}
my name is not on the list
the name is missing
the name of the hotel is {company}
the username is {code}
file name: {code}
hostname is {code}
i am in {city}
i'm from {city}
i am a {role}
i am the {role}
im new here
i am waiting for my {thing}
i'm trying to install {brand}
i am looking for a {thing} in {city}
this is urgent
this is {company}
this is about my {thing}
{brand} here, nothing works
hi
hi there
hi team
hi everyone
hi support
hey guys
hello
hello sir
hello madam
good morning
good evening sir
Dear customer,
Dear Sir or Madam,
Dear support team,
dear hiring manager
thanks
thanks again
thanks so much!
thank you very much
thank you for the {thing}
ok thanks bye
no problem
bye bye
welcome to {company}
welcome to {city}
sorry about that
Best regards,\\nThe {brand} team
Regards,\\nCustomer Support
Cheers,\\n{company}
can i speak to a human
can I talk to the {role} please
could you put me through to billing
is {brand} there
is {brand} available in {city}?
i talked to support yesterday
I spoke with {company} about my {thing}
{company} told me that the {thing} would be free
{brand} says the {thing} is missing
the agent was very kind
please ask the {role} to call me back
ask {brand} about the {thing}
cc billing
assign the {thing} to me
assigned to nobody
From: {city}
To: {city}
from {city} to {city} on {day}
a flight from {city} to {city} in {month}
book a flight to {city}
a hotel in {city} please
is it raining in {city}
the office in {city} is closed
{city} is nice in {month}
we moved from {city} to {city}
{city}, {city} and {city}
the {city} {thing}
the weather in {city} on {day}
a table at {company}
book a table at {brand} for {number}
reservation at {company} on {day}
a table for two under the terrace
cancel the dinner booking for {day}
the booking is for {number} people
the booking is for {month}
booking under my company
transfer {number} to savings
transfer {number} dollars to my account
send {number} to my landlord every {month}
pay {company} {number}
how much did i pay {company} in {month}
set up a standing order to {company}
stop the direct debit to {brand}
the payment to {brand} hasn't gone through
when does my standing order end
i owe my sister {number}
add my mother as a payee
call {company}
call the {role}
call me on {day}
call me at {number}
text me the {thing}
email me the {thing}
send the {thing} to {company}
remind me to pay {brand} on {day}
meeting with {company} at {number}
what's {brand}'s number
happy birthday
happy new year
my friend lives in {city}
my brother has the same {thing}
my wife needs a card too
my boss approved it
our new {role} starts in {month}
i work for {company}
i work at {brand} in {city}
{company} bought {company}
{company} opened a store in {city}
{brand} and {brand} are both fine
{brand}, {brand} and {brand}
{brand} vs {brand}
i prefer {brand} to {brand}
install {brand} on {brand}
{brand} {number} crashes on {brand}
{brand} isn't working
{brand} won't start
{brand} is slow on my {thing}
{brand} update failed with error {number}
how do i uninstall {brand}
does {brand} run on {brand}?
did {brand} push the {thing}?
{brand}'s {thing} is broken
restart {brand} and try again
upgrade {brand} to {number}
import {code}
pip install {code}
the {code} service runs on port {number}
{code}: command not found
WARN {code} took {number} ms
ERROR {brand} failed to start
[{number}] INFO {brand} ready
at {code}.{code}(Main.java:{number})
git checkout {code}
the {brand} pipeline is red
the {brand} job failed again on {day}
the {brand} container keeps restarting
{brand} dashboards are empty
{company} report for {month}
the {company} account is locked
{thing} {number}
my {thing} is {code}
where is my {thing}
the {thing} did not arrive
i want to cancel my {thing}
change my {thing} to {day}
on {day} in {month}
in {month} {number}
will it be back in {month}?
may i ask you something
may I change it in {month}
mark it as done
bill me in {month}
grant me access
can you rob a bank
drew the wrong conclusion
pat on the back
i will have a jack and coke
a rose is a rose
the art of {thing}
hope it works
faith and grace
joy to the world
a penny for your thoughts
sky is blue
summer in {city}
the {thing} costs {number} dollars
{number} large pizzas
one cheese burger and a diet coke
chicken wings with ranch
extra olives and basil
a caesar salad
one margarita please
sherry and port wine
earl grey tea
graham crackers
a bloody mary
eggs benedict
an oscar nomination
a victoria sponge
the french laundry
the golden gate bridge
saint patrick's day
christmas eve
valentine's day
the john deere {thing}
the wendy's on main street
mercedes benz dealer
open the {brand} app
play something by the {company} band
the {company} group
{company} {thing} {number}
is {company} open on {day}
{company} charged me twice
refund from {company}
i ordered from {brand} in {month}
my {brand} card was declined
my {brand} account
the {brand} one
{brand} please
{city} please
{day} please
{month} {number} please
{number} {city}
{city} {number}
"""
_BEFORE = (
    "hi ",
    "hello, ",
    "ok, ",
    "ok ",
    "yes ",
    "yes, ",
    "well, ",
    "sorry, ",
    "thanks. ",
    "Hello! ",
    "hey ",
    "sure ",
    "please ",
    "so ",
    "and ",
    "btw ",
    "fyi ",
    "no, ",
    "oh ",
    "good morning ",
    "> ",
    "- ",
    "sir ",
    "Also, ",
    "um ",
)
_AFTER = (
    " please",
    " thanks",
    ", thanks!",
    ".",
    ". Thank you.",
    "!",
    "?",
    " now",
    " today",
    " asap",
    " :)",
    " lol",
    " ok?",
    ", please",
    "\\nthanks",
    " sir",
    " right away",
    " and i need help with my {thing}",
    ", what should i do?",
    ". my phone is {number}",
    " because of the {thing}",
    " again",
    "...",
    " pls",
)
_SLOT = re.compile(r"\{\{|\}\}|\{(\w+)\}")
_LABEL = {
    "name": NAME,
    "first": NAME,
    "last": NAME,
    "full": NAME,
    "city": PLACE,
    "company": ORGANISATION,
    "brand": ORGANISATION,
}


def sentences(fillers: Fillers, people: int, nobody: int) -> Iterator[Text]:
    """That many texts with people in them and without."""
    for count, templates in ((people, _PEOPLE), (nobody, _NOBODY)):
        lines = templates.strip().split("\n")
        for number in range(count):
            template = lines[number % len(lines)]
            if fillers.random.random() < 0.3:
                template = fillers.random.choice(_BEFORE) + template
            if fillers.random.random() < 0.3:
                template += fillers.random.choice(_AFTER)
            yield _filled(template.replace("\\n", "\n"), fillers)


def _filled(template: str, fillers: Fillers) -> Text:
    text, spans, place = "", [], 0
    for match in _SLOT.finditer(template):
        text += template[place : match.start()]
        place = match.end()
        if match[1] is None:
            text += match[0][0]
            continue
        value = fillers.fill(match[1])
        if match[1] in _LABEL:
            spans.append(Span(len(text), len(text) + len(value), _LABEL[match[1]]))
        text += value
    return Text(text + template[place:], tuple(spans))
