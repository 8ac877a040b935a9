import torch
import no_such_package
