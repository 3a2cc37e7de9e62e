-- limits: the settings of the caller, by name.
local LIMITS = cmsgpack.unpack(A.limits)
