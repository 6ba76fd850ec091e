module svcd/vectors/chain

go 1.21
