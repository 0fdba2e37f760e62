from datasets_app.domain.pii.detector import PATH
from datasets_app.domain.quality.personal_data import PersonalDataCheck


class FileSystemPaths(PersonalDataCheck):
    code = "E408"
    title = "file-system path"
    kind = PATH
    noun = "file-system path"
