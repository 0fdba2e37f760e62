from datasets_app.domain.pii.detector import HOST
from datasets_app.domain.quality.personal_data import PersonalDataCheck


class InternalHosts(PersonalDataCheck):
    code = "E409"
    title = "internal host name"
    kind = HOST
    noun = "internal host name"
