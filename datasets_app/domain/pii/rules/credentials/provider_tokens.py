"""The forms in which providers issue keys and tokens, as their documentation gives them.

A provider's prefix is distinctive, so the minimum length is shorter than that of issued tokens:
tokens of other generations and truncated copies match too.
"""

import re
from functools import cache
from typing import NamedTuple

ALNUM, HEX, WORD, BASE64, DOTTED = r"[A-Za-z0-9]", r"[0-9a-fA-F]", r"[\w-]", r"[\w+/=-]", r"[\w.=-]"
_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"


class TokenFormat(NamedTuple):
    """One of ``prefixes``, then at least ``min_length`` characters of ``alphabet``."""

    providers: str
    prefixes: str
    alphabet: str
    min_length: int


TOKEN_FORMATS = (
    # clouds and hosting
    TokenFormat("AWS", "AKIA ASIA ABIA ACCA AGPA AROA AIPA ANPA ANVA", r"[A-Z0-9]", 16),
    TokenFormat("AWS Bedrock", "ABSK bedrock-api-key-", BASE64, 40),
    TokenFormat("Google", "AIza", WORD, 30),
    TokenFormat("Google OAuth", "ya29. GOCSPX- 1//0", WORD, 20),
    TokenFormat("Alibaba, Tencent, Volcengine", "LTAI AKID AKLT", ALNUM, 18),
    TokenFormat("Yandex", "AQVN t1.9eu YCAJ YCP", WORD, 30),
    TokenFormat("DigitalOcean", "dop_v1_ doo_v1_ dor_v1_", HEX, 32),
    TokenFormat("Heroku", "HRKU-", WORD, 30),
    TokenFormat("Fly.io", "fo1_ fm1a_ fm1r_ fm2_", BASE64, 40),
    TokenFormat("Netlify, Vercel, Render, Neon", "nfp_ nfc_ nfo_ nfu_ vcp_ vck_ rnd_ napi_", ALNUM, 20),
    TokenFormat("Scalingo, Aiven, Tailscale", "tk-us- AVNS_ tskey-api- tskey-auth- tskey-client-", WORD, 12),
    TokenFormat("Cloudflare", "v1.0- cfat_ cfut_ cfk_", WORD, 38),
    TokenFormat("Databricks", "dapi dose", HEX, 32),
    TokenFormat("PlanetScale", "pscale_tkn_ pscale_oauth_ pscale_pw_", DOTTED, 24),
    TokenFormat("Supabase", "sbp_ sbp_v0_ sb_secret_ sb_publishable_", WORD, 20),
    TokenFormat("ClickHouse", "4b1d", ALNUM, 38),
    TokenFormat("Confluent", "cflt", BASE64, 48),
    # code, packages, builds
    TokenFormat("GitHub", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"\w", 20),
    TokenFormat("GitLab", "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent-", DOTTED, 16),
    TokenFormat("GitLab", "gloas- glsoat- glffct- glwt- GR1348941", DOTTED, 16),
    TokenFormat("Atlassian, Bitbucket, Trello", "ATATT3 ATCTT3 ATSTT3 ATBB ATTA BBDC-", BASE64, 24),
    TokenFormat("npm, RubyGems, PyPI", "npm_ rubygems_ pypi-AgE", WORD, 30),
    TokenFormat("crates.io, NuGet, Clojars", "cio oy2 CLOJARS_", ALNUM, 32),
    TokenFormat("Docker, JFrog", "dckr_pat_ dckr_oat_ AKCp cmVmd", WORD, 20),
    TokenFormat("CircleCI, Buildkite", "CCIPAT_ CCIPRJ_ bkua_ bkaj_ bkct_", WORD, 24),
    TokenFormat("Sonar, Sourcegraph, Snyk", "sqp_ squ_ sqa_ sgp_ sgp_local_ slk_ snyk_uat.", WORD, 32),
    TokenFormat("Doppler, Infisical", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", DOTTED, 24),
    TokenFormat("Pulumi, Infracost, Prefect", "pul- ico- pnu_ pnb_", ALNUM, 24),
    TokenFormat("HashiCorp Vault", "hvs. hvb. hvr.", WORD, 20),
    TokenFormat("Octopus", "API-", r"[A-Z0-9]", 25),
    TokenFormat("Postman", "PMAK- PMAT-", WORD, 24),
    TokenFormat("Cypress, Settlemint, ReadMe", "sm_aat_ sm_pat_ sm_sat_ rdme_ rdme_xn", ALNUM, 16),
    TokenFormat("OpenShift", "sha256~", WORD, 40),
    # payment and shops
    TokenFormat(
        "Stripe", "sk_test_ sk_live_ sk_prod_ rk_test_ rk_live_ rk_prod_ pk_test_ pk_live_", ALNUM, 10
    ),
    TokenFormat("Stripe and Svix webhooks", "whsec_", BASE64, 20),
    TokenFormat("Shopify", "shpat_ shpca_ shppa_ shpss_ shptka_", HEX, 30),
    TokenFormat("Square", "sq0atp- sq0csp- sq0idp- EAAA", WORD, 22),
    TokenFormat("EasyPost", "EZAK EZTK", ALNUM, 40),
    TokenFormat("Flutterwave", "FLWSECK_TEST- FLWSECK- FLWPUBK_TEST- FLWPUBK-", WORD, 12),
    TokenFormat("Shippo, Razorpay", "shippo_live_ shippo_test_ rzp_live_ rzp_test_", ALNUM, 14),
    TokenFormat("Duffel, Lob", "duffel_test_ duffel_live_ test_pub_ live_pub_", WORD, 30),
    TokenFormat("PayPal", "A21AA", WORD, 60),
    # messages and mail
    TokenFormat("Slack", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp- xoxe.xox", WORD, 10),
    TokenFormat("SendGrid", "SG.", DOTTED, 40),
    TokenFormat("Brevo", "xkeysib- xsmtpsib-", WORD, 40),
    TokenFormat("Mailgun", "key- pubkey-", r"[0-9a-f]", 32),
    TokenFormat("Twilio", "SK AC", r"[0-9a-f]", 32),
    TokenFormat("Resend, OneSignal", "re_ os_v2_app_ os_v2_org_", r"\w", 24),
    TokenFormat("Discord", "mfa.", WORD, 60),
    # models
    TokenFormat("Anthropic, OpenRouter, Langfuse", "sk-ant- sk-or- sk-lf- pk-lf-", WORD, 16),
    TokenFormat("OpenAI", "sk-proj- sk-svcacct- sk-admin- sk-None-", WORD, 16),
    TokenFormat("OpenAI, DeepSeek, Moonshot", "sk- sess-", ALNUM, 30),
    TokenFormat("Hugging Face", "hf_ api_org_", ALNUM, 28),
    TokenFormat("Groq, xAI, Replicate, NVIDIA", "gsk_ xai- r8_ nvapi-", WORD, 32),
    TokenFormat("Perplexity, Pinecone, Tavily, Jina", "pplx- pcsk_ tvly- jina_ fc-", r"\w", 26),
    TokenFormat("LangSmith, Fireworks, ElevenLabs", "lsv2_pt_ lsv2_sk_ ls__ fw_ sk_", r"\w", 22),
    # watching and logs
    TokenFormat("New Relic", "NRAK- NRII- NRJS- NRRA- NRIQ-", WORD, 16),
    TokenFormat("Sentry", "sntrys_ sntryu_ sntrya_", BASE64, 32),
    TokenFormat("Grafana", "glc_ glsa_", BASE64, 24),
    TokenFormat("Dynatrace", "dt0c01. dt0s01. dt0s02. dt0s16.", DOTTED, 24),
    TokenFormat("Datadog, PostHog", "ddpat_ ddapp_ phc_ phx_", ALNUM, 24),
    # the rest
    TokenFormat("Linear, Notion, Figma", "lin_api_ lin_oauth_ ntn_ secret_ figd_ figo_ figu_", WORD, 24),
    TokenFormat("Contentful, Typeform, Frame.io", "CFPAT- tfp_ fio-u-", DOTTED, 28),
    TokenFormat("Dropbox", "sl. sl.u.", WORD, 60),
    TokenFormat("Facebook", "EAAC EAAM EAAB EAAG EAAD EAAJ", ALNUM, 60),
    TokenFormat("Adafruit, Adobe, WakaTime", "aio_ p8e- waka_", WORD, 24),
    TokenFormat("Defined Networking, Intra 42", "dnkey- s-s4t2ud- s-s4t2af-", WORD, 40),
    TokenFormat("LinkedIn", "WPL_AP1.", DOTTED, 14),
    TokenFormat("age", "AGE-SECRET-KEY-1", r"[A-Z0-9]", 20),
    TokenFormat("1Password", "ops_eyJ", BASE64, 40),
    TokenFormat("OpenSSH key without its head", "b3BlbnNzaC1rZXktdjE", BASE64, 20),
    TokenFormat("Django", "django-insecure-", r"[\w!@#$%^&*()+=-]", 20),
    TokenFormat("Twitter", "AAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]", 30),
)
# What has no prefix but a build that nothing else has.
TOKEN_SHAPES = (
    r"(?<!-)eyJ[\w-]{8,}\.[\w=-]{4,}(?:\.[\w=-]*){0,3}",  # JWT, JWE
    r"\d{6,16}:A[\w-]{32,}",  # Telegram
    r"[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,}",  # Discord
    r"[0-9a-f]{32}-us\d{1,2}",  # Mailchimp
    r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}",  # Mailgun
    r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}",  # Terraform
    r"(?:pat|key)[A-Za-z0-9]{14}\.[0-9a-f]{40,}",  # Airtable
    r"[ps]k\.eyJ[\w-]{20,}\.[\w-]{16,}",  # Mapbox
    r"[\w.~]{3}\dQ~[\w.~-]{30,}",  # Azure AD
    r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk",  # MaxMind
    rf"(?:sdk|api|mob)-{_UUID}",  # LaunchDarkly
    rf"(?:access|link|public)-(?:sandbox|development|production)-{_UUID}",  # Plaid
    rf"pat-(?:na|eu|ap)\d-{_UUID}",  # HubSpot
    rf"amzn\.mws\.{_UUID}",  # Amazon Marketplace
    r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][\w-]{10,32}\.[\w+/=-]{30,}",
    r"A3-[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",  # 1Password
    r"\d{15,16}\|[\w-]{26,40}",  # Facebook applications
    r"\d{15,20}-[A-Za-z0-9]{30,40}",  # Twitter
    r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",  # Braintree
    r"(?:live|test)_[0-9a-f]{35}",  # Lob
    r"(?:live|sandbox)_[\w-]{40}",  # GoCardless
    r"(?:pat|sat)\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}",  # Harness
    r"s\.(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{24}(?![A-Za-z0-9])",  # Vault, before 2021
    r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w+/-]{20,}",
    r"[a-z0-9-]{1,60}\.webhook\.office\.com/webhookb2/[\w@/-]{40,}",
    r"discord(?:app)?\.com/api/webhooks/\d{10,25}/[\w-]{40,}",
)


@cache
def build_token_pattern() -> re.Pattern[str]:
    """One pattern for all of them, made when it is first needed."""
    choices = [
        f"(?:{'|'.join(map(re.escape, issued.prefixes.split()))}){issued.alphabet}{{{issued.min_length},}}"
        for issued in TOKEN_FORMATS
    ]
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{'|'.join([*choices, *TOKEN_SHAPES])})", re.ASCII)


# Whose keys have no form of their own, so that only the name before them tells: algolia_key = …
_NAMED_PROVIDERS = (
    "adafruit adobe adyen airtable algolia alibaba amplitude artifactory asana atlassian auth0 aws azure "
    "beamer bintray bitbucket bittrex braintree bugsnag circleci cloudflare cloudinary codecov cohere "
    "coinbase confluence confluent contentful datadog discord docusign droneci dropbox dynatrace elastic "
    "etsy facebook fastly finicity finnhub firebase flickr freshbooks github gitlab gitter gocardless "
    "grafana heroku hubspot instagram intercom jenkins jfrog jira kraken kucoin launchdarkly linkedin "
    "linked_in lob looker mailchimp mailgun mailjet mapbox mattermost meraki messagebird message_bird "
    "mixpanel mistral netlify newrelic new_relic nytimes okta openai openweather pagerduty paypal "
    "paystack plaid postmark privateai pusher rapidapi rollbar segment sendbird sendgrid sentry shopify "
    "slack snyk sonar sourcegraph splunk square squarespace stripe sumologic telegram todoist trello "
    "travis twilio twitch twitter typeform unsplash vercel wandb yandex zapier zendesk zoom"
)
NAMED_PROVIDERS = tuple(_NAMED_PROVIDERS.split())
