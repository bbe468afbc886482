module phm.invalid/interop/sealing

// The first release with crypto/hpke. It needs no other module.
go 1.26.0
