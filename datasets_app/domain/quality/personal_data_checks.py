"""The checks that look for one class of personal data each."""

from datasets_app.domain.pii.detector import CREDENTIAL, CREDIT_CARD, EMAIL, HOST, IP, PATH, PHONE, SSN
from datasets_app.domain.quality.personal_data import PersonalDataCheck


class EmailAddresses(PersonalDataCheck):
    code, title, kind = "E401", "e-mail address", EMAIL


class PhoneNumbers(PersonalDataCheck):
    code, title, kind = "E402", "phone number", PHONE


class SocialSecurityNumbers(PersonalDataCheck):
    code, title, kind = "E403", "social security number", SSN


class CreditCards(PersonalDataCheck):
    code, title, kind = "E404", "credit card number", CREDIT_CARD


class IpAddresses(PersonalDataCheck):
    code, title, kind = "E405", "IP address", IP


class Credentials(PersonalDataCheck):
    code, title, kind = "E407", "credential", CREDENTIAL


class FileSystemPaths(PersonalDataCheck):
    code, title, kind = "E408", "file-system path", PATH


class InternalHosts(PersonalDataCheck):
    code, title, kind = "E409", "internal host name", HOST
