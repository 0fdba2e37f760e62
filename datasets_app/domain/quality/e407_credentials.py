from datasets_app.domain.pii.detector import CREDENTIAL
from datasets_app.domain.quality.personal_data import PersonalDataCheck


class Credentials(PersonalDataCheck):
    code = "E407"
    title = "credential"
    kind = CREDENTIAL
    noun = "credential"
