package main

import (
	"fmt"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/crypto/keys/secp256k1"
	sdk "github.com/cosmos/cosmos-sdk/types"
	txtypes "github.com/cosmos/cosmos-sdk/types/tx"
	"github.com/cosmos/cosmos-sdk/types/tx/signing"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
)

// What bench/load/pool.ts and bench/accounts.ts say of our own transfers.
const (
	chainID = "svcd-benchmark-1"
	senders = 1024
	spread  = 7919
)

const (
	denom = "stake"
	// The gas that simd allows a transaction when it is not told otherwise.
	gasLimit = 200_000
)

var keys = func() (made [senders]*secp256k1.PrivKey) {
	for at := range made {
		made[at] = secp256k1.GenPrivKeyFromSecret([]byte(fmt.Sprintf("svcd bench sender %d", at)))
	}
	return made
}()

func addressOf(sender int) sdk.AccAddress { return sdk.AccAddress(keys[sender].PubKey().Address()) }

func packed(message interface {
	Reset()
	String() string
	ProtoMessage()
}) *codectypes.Any {
	wrapped, err := codectypes.NewAnyWithValue(message)
	must(err)
	return wrapped
}

func bytesOf(message interface{ Marshal() ([]byte, error) }) []byte {
	bytes, err := message.Marshal()
	must(err)
	return bytes
}

// signedSend is the at-th transaction of the load: one MsgSend, signed in sign mode direct, without a fee. Senders take
// turns, each with its next sequence.
func signedSend(at int) []byte {
	sender, sequence := at%senders, uint64(at/senders)
	key := keys[sender]
	send := banktypes.NewMsgSend(addressOf(sender), addressOf((sender*spread+1)%senders), sdk.NewCoins(sdk.NewInt64Coin(denom, 1)))
	direct := &txtypes.ModeInfo_Single_{Single: &txtypes.ModeInfo_Single{Mode: signing.SignMode_SIGN_MODE_DIRECT}}
	body := bytesOf(&txtypes.TxBody{Messages: []*codectypes.Any{packed(send)}})
	info := bytesOf(&txtypes.AuthInfo{
		SignerInfos: []*txtypes.SignerInfo{{
			PublicKey: packed(key.PubKey().(*secp256k1.PubKey)),
			ModeInfo:  &txtypes.ModeInfo{Sum: direct},
			Sequence:  sequence,
		}},
		Fee: &txtypes.Fee{GasLimit: gasLimit},
	})
	document := txtypes.SignDoc{BodyBytes: body, AuthInfoBytes: info, ChainId: chainID, AccountNumber: uint64(sender)}
	signature, err := key.Sign(bytesOf(&document))
	must(err)
	return bytesOf(&txtypes.TxRaw{BodyBytes: body, AuthInfoBytes: info, Signatures: [][]byte{signature}})
}
