module phm.invalid/interop/agent

// It needs no other module.
go 1.21
