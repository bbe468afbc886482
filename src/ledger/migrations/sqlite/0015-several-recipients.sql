-- oldest-program: 14
-- Keys that are sealed to several recipients. further_seals holds thumbprint and digest, 32 bytes each, of every recipient
-- after the first; NULL for other keys. The first such key makes programs before this version refuse the ledger: they would
-- rebuild its statement with one recipient.
ALTER TABLE ledger ADD COLUMN further_seals BLOB;
