from datasets_app.domain.pii.detector import SSN
from datasets_app.domain.quality.personal_data import PersonalDataCheck


class SocialSecurityNumbers(PersonalDataCheck):
    code = "E403"
    title = "social security number"
    kind = SSN
    noun = "social security number"
