from datasets_app.domain.pii.detector import IP
from datasets_app.domain.quality.personal_data import PersonalDataCheck


class IpAddresses(PersonalDataCheck):
    code = "E405"
    title = "IP address"
    kind = IP
    noun = "IP address"
