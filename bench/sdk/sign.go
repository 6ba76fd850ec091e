package main

import (
	"fmt"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/crypto/keys/secp256k1"
	sdk "github.com/cosmos/cosmos-sdk/types"
	txtypes "github.com/cosmos/cosmos-sdk/types/tx"
	"github.com/cosmos/cosmos-sdk/types/tx/signing"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types/v1"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"
)

// What bench/load/pool.ts and bench/accounts.ts say of our own transactions.
const (
	chainID   = "svcd-benchmark-1"
	senders   = 1024
	spread    = 7919
	lanes     = 4
	voters    = 192
	proposals = 20
)

const (
	denom = "stake"
	// A unit of voting power.
	token = 1_000_000
	// More than the 200,000 that simd allows by default. All that begins to unbond in a block is one value, so that each
	// withdrawal takes more gas than the one before: 0.5 million behind 200 others, several millions behind thousands.
	gasLimit = 20_000_000
)

var keys = func() (made [senders]*secp256k1.PrivKey) {
	for at := range made {
		made[at] = secp256k1.GenPrivKeyFromSecret([]byte(fmt.Sprintf("svcd bench sender %d", at)))
	}
	return made
}()

func addressOf(sender int) sdk.AccAddress { return sdk.AccAddress(keys[sender].PubKey().Address()) }

// operatorOf is the validator of a voter.
func operatorOf(voter int) string { return sdk.ValAddress(addressOf(voter)).String() }

// validatorOf is the voter with whose validator a delegator has its stake.
func validatorOf(delegator int) int { return (delegator - voters) % voters }

func packed(message sdk.Msg) *codectypes.Any {
	wrapped, err := codectypes.NewAnyWithValue(message)
	must(err)
	return wrapped
}

func bytesOf(message interface{ Marshal() ([]byte, error) }) []byte {
	bytes, err := message.Marshal()
	must(err)
	return bytes
}

// signed is one message, signed in sign mode direct, without a fee.
func signed(sender, sequence int, message sdk.Msg) []byte {
	key := keys[sender]
	direct := &txtypes.ModeInfo_Single_{Single: &txtypes.ModeInfo_Single{Mode: signing.SignMode_SIGN_MODE_DIRECT}}
	body := bytesOf(&txtypes.TxBody{Messages: []*codectypes.Any{packed(message)}})
	info := bytesOf(&txtypes.AuthInfo{
		SignerInfos: []*txtypes.SignerInfo{{
			PublicKey: packed(key.PubKey().(*secp256k1.PubKey)),
			ModeInfo:  &txtypes.ModeInfo{Sum: direct},
			Sequence:  uint64(sequence),
		}},
		Fee: &txtypes.Fee{GasLimit: gasLimit},
	})
	document := txtypes.SignDoc{BodyBytes: body, AuthInfoBytes: info, ChainId: chainID, AccountNumber: uint64(sender)}
	signature, err := key.Sign(bytesOf(&document))
	must(err)
	return bytesOf(&txtypes.TxRaw{BodyBytes: body, AuthInfoBytes: info, Signatures: [][]byte{signature}})
}

func sendOf(sender int) sdk.Msg {
	coins := sdk.NewCoins(sdk.NewInt64Coin(denom, 1))
	return banktypes.NewMsgSend(addressOf(sender), addressOf((sender*spread+1)%senders), coins)
}

// signedSend is the at-th transaction of the bank sends. Senders take turns, each with its next sequence.
func signedSend(at int) []byte {
	sender := at % senders
	return signed(sender, at/senders, sendOf(sender))
}

// turnOf says whose turn it is among the accounts that the lanes share equally, and how often it had it before.
func turnOf(turn, lane, count int) (account, before int) {
	return lane + lanes*(turn%(count/lanes)), turn * lanes / count
}

// signedMix is the at-th transaction of the mix, in the order that bench/load/pool.ts explains.
func signedMix(at int) []byte {
	lane, place := at%lanes, at/lanes
	turn, part := place/4, place%4
	if part == 3 {
		voter, sequence := turnOf(turn, lane, voters)
		proposal := uint64(1 + (voter+sequence)%proposals)
		return signed(voter, sequence, govtypes.NewMsgVote(addressOf(voter), proposal, govtypes.OptionYes, ""))
	}
	delegator, sequence := turnOf(turn*3+part, lane, senders-voters)
	sender := voters + delegator
	address, validator, coin := addressOf(sender).String(), operatorOf(validatorOf(sender)), sdk.NewInt64Coin(denom, token)
	messages := []sdk.Msg{
		sendOf(sender),
		stakingtypes.NewMsgDelegate(address, validator, coin),
		stakingtypes.NewMsgUndelegate(address, validator, coin),
	}
	return signed(sender, sequence, messages[part])
}
