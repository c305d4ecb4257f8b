from .files import column_names as column_names
from .files import read_file as read_file
from .plain import KINDS as KINDS
from .plain import NOT_A_NUMBER as NOT_A_NUMBER
from .plain import as_table as as_table
from .plain import read_table as read_table
