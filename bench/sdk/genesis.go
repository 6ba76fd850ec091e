package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"cosmossdk.io/depinject"
	"cosmossdk.io/log"
	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/crypto/keys/ed25519"
	cryptotypes "github.com/cosmos/cosmos-sdk/crypto/types"
	"github.com/cosmos/cosmos-sdk/runtime"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govmodule "github.com/cosmos/cosmos-sdk/x/gov/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types/v1"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"
)

const (
	// Of each sender. Each of its transfers moves 1, and each delegation a token.
	balance = 1_000_000_000_000
	// Power of the node's validator, and of a voter's without what others delegate to it, as our own chain has them.
	nodePower, voterPower = 10_000_000, 10
	// One entry for each block in which a delegator withdraws. The default of 7 would refuse what comes after.
	unbondingEntriesMax = 1_000_000
)

var noEnd = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// stake adds a validator with a delegation of its operator's account.
func stake(state *stakingtypes.GenesisState, account sdk.AccAddress, key cryptotypes.PubKey, power int64) {
	operator := sdk.ValAddress(account).String()
	validator, err := stakingtypes.NewValidator(operator, key, stakingtypes.Description{})
	must(err)
	validator.Status = stakingtypes.Bonded
	validator.Tokens, validator.DelegatorShares = math.ZeroInt(), math.LegacyZeroDec()
	state.Validators = append(state.Validators, validator)
	delegate(state, account, len(state.Validators)-1, power)
}

func delegate(state *stakingtypes.GenesisState, account sdk.AccAddress, at int, power int64) {
	validator, tokens := &state.Validators[at], math.NewInt(power*token)
	shares := math.LegacyNewDecFromInt(tokens)
	validator.Tokens = validator.Tokens.Add(tokens)
	validator.DelegatorShares = validator.DelegatorShares.Add(shares)
	delegation := stakingtypes.NewDelegation(account.String(), validator.OperatorAddress, shares)
	state.Delegations = append(state.Delegations, delegation)
}

// mixed gives each voter a validator, to which the other accounts have delegated a token each, in turn, and opens
// proposals. The node's validator has nearly all of the power: it alone signs.
func mixed(staking *stakingtypes.GenesisState, gov *govtypes.GenesisState) {
	staking.Params.MaxValidators = 1 + voters
	staking.Params.MaxEntries = unbondingEntriesMax
	for voter := range voters {
		key := ed25519.GenPrivKeyFromSecret([]byte(fmt.Sprintf("svcd bench validator %d", voter))).PubKey()
		stake(staking, addressOf(voter), key, voterPower)
	}
	for delegator := voters; delegator < senders; delegator++ {
		delegate(staking, addressOf(delegator), 1+validatorOf(delegator), 1)
	}
	begin, tally := time.Unix(0, 0).UTC(), govtypes.EmptyTallyResult()
	for at := range proposals {
		gov.Proposals = append(gov.Proposals, &govtypes.Proposal{
			Id: uint64(1 + at), Status: govtypes.StatusVotingPeriod, FinalTallyResult: &tally,
			SubmitTime: &begin, DepositEndTime: &begin, VotingStartTime: &begin, VotingEndTime: &noEnd,
			Title: "to be voted on", Summary: "to be voted on", Proposer: addressOf(0).String(),
		})
	}
	gov.StartingProposalId = 1 + proposals
}

// genesis is the state of a new chain: the node's validator, and the accounts that the transactions of sign.go come from.
func genesis(isMix bool, validatorKey string) (json.RawMessage, error) {
	key, err := base64.StdEncoding.DecodeString(validatorKey)
	if err != nil {
		return nil, err
	}
	var builder *runtime.AppBuilder
	var cdc codec.Codec
	config := depinject.Configs(modules(), depinject.Supply(log.NewNopLogger()))
	if err := depinject.Inject(config, &builder, &cdc); err != nil {
		return nil, err
	}
	accounts := make([]authtypes.GenesisAccount, senders)
	bank := banktypes.DefaultGenesisState()
	hold := func(address sdk.AccAddress, amount math.Int) {
		coins := sdk.NewCoins(sdk.NewCoin(denom, amount))
		bank.Balances = append(bank.Balances, banktypes.Balance{Address: address.String(), Coins: coins})
	}
	for at := range accounts {
		accounts[at] = authtypes.NewBaseAccount(addressOf(at), nil, uint64(at), 0)
		hold(addressOf(at), math.NewInt(balance))
	}
	staking, gov := stakingtypes.DefaultGenesisState(), govtypes.DefaultGenesisState()
	node := &ed25519.PubKey{Key: key}
	stake(staking, sdk.AccAddress(node.Address()), node, nodePower)
	if isMix {
		mixed(staking, gov)
	}
	bonded := math.ZeroInt()
	for _, validator := range staking.Validators {
		bonded = bonded.Add(validator.Tokens)
	}
	hold(authtypes.NewModuleAddress(stakingtypes.BondedPoolName), bonded)
	state := builder.DefaultGenesis()
	state[authtypes.ModuleName] = cdc.MustMarshalJSON(authtypes.NewGenesisState(authtypes.DefaultParams(), accounts))
	state[banktypes.ModuleName] = cdc.MustMarshalJSON(bank)
	state[stakingtypes.ModuleName] = cdc.MustMarshalJSON(staking)
	state[govmodule.ModuleName] = cdc.MustMarshalJSON(gov)
	return json.Marshal(state)
}
