// The peer of `make bench`: a chain of cosmos-sdk with auth, bank, staking and consensus, and CometBFT in process.
//
//	sdkd genesis <base64 ed25519 key>   prints the app_state of a chain with one validator and the senders
//	sdkd sign <first> <count>           prints signed bank sends, one in base64 a line; see sign.go
//	sdkd addresses                      prints the address of each sender
//	sdkd start --home DIR               runs the node, as simd does: the same command of the same package
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"cosmossdk.io/depinject"
	"cosmossdk.io/log"
	cmtcfg "github.com/cometbft/cometbft/config"
	cmted25519 "github.com/cometbft/cometbft/crypto/ed25519"
	cmttypes "github.com/cometbft/cometbft/types"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/server"
	svrcmd "github.com/cosmos/cosmos-sdk/server/cmd"
	servertypes "github.com/cosmos/cosmos-sdk/server/types"
	"github.com/cosmos/cosmos-sdk/testutil/configurator"
	"github.com/cosmos/cosmos-sdk/testutil/sims"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	// Each registers its module with depinject.
	_ "github.com/cosmos/cosmos-sdk/x/auth"
	_ "github.com/cosmos/cosmos-sdk/x/auth/tx/config"
	_ "github.com/cosmos/cosmos-sdk/x/bank"
	_ "github.com/cosmos/cosmos-sdk/x/consensus"
	_ "github.com/cosmos/cosmos-sdk/x/staking"
)

// Of each sender. Each of its transfers moves 1.
const balance = 1_000_000_000_000

// modules is the chain's app config. "tx" is the ante handler: it checks signature, sequence, fee and memo.
func modules() depinject.Config {
	return configurator.NewAppConfig(
		configurator.AuthModule(), configurator.BankModule(), configurator.StakingModule(),
		configurator.ConsensusModule(), configurator.TxModule(),
	)
}

// newApp builds the application with the options that simd gives to its own: those of app.toml and the flags, and
// optimistic execution.
func newApp(logger log.Logger, db dbm.DB, trace io.Writer, options servertypes.AppOptions) servertypes.Application {
	var builder *runtime.AppBuilder
	must(depinject.Inject(depinject.Configs(modules(), depinject.Supply(logger, options)), &builder))
	app := builder.Build(db, trace, append(server.DefaultBaseappOptions(options), baseapp.SetOptimisticExecution())...)
	must(app.Load(true))
	return app
}

// genesis is the state of a new chain: one validator, and accounts that the transactions of sign.go come from.
func genesis(validatorKey string) (json.RawMessage, error) {
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
	balances := make([]banktypes.Balance, senders)
	for at := range accounts {
		address := addressOf(at)
		accounts[at] = authtypes.NewBaseAccount(address, nil, uint64(at), 0)
		balances[at] = banktypes.Balance{Address: address.String(), Coins: sdk.NewCoins(sdk.NewInt64Coin(denom, balance))}
	}
	set := cmttypes.NewValidatorSet([]*cmttypes.Validator{cmttypes.NewValidator(cmted25519.PubKey(key), 1)})
	state, err := sims.GenesisStateWithValSet(cdc, builder.DefaultGenesis(), set, accounts, balances...)
	if err != nil {
		return nil, err
	}
	return json.Marshal(state)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	root := &cobra.Command{
		Use:          "sdkd",
		SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Name() != "start" {
				return nil
			}
			if err := client.SetCmdClientContextHandler(client.Context{}, cmd); err != nil {
				return err
			}
			return server.InterceptConfigsPreRunHandler(cmd, "", nil, cmtcfg.DefaultConfig())
		},
	}
	root.AddCommand(
		server.StartCmd(newApp, ""),
		&cobra.Command{Use: "genesis", Args: cobra.ExactArgs(1), RunE: func(_ *cobra.Command, args []string) error {
			state, err := genesis(args[0])
			fmt.Println(string(state))
			return err
		}},
		&cobra.Command{Use: "addresses", Run: func(*cobra.Command, []string) {
			for at := range senders {
				fmt.Println(addressOf(at).String())
			}
		}},
		&cobra.Command{Use: "sign", Args: cobra.ExactArgs(2), RunE: func(_ *cobra.Command, args []string) error {
			first, err := strconv.Atoi(args[0])
			if err != nil {
				return err
			}
			count, err := strconv.Atoi(args[1])
			if err != nil {
				return err
			}
			out := bufio.NewWriter(os.Stdout)
			for at := first; at < first+count; at++ {
				fmt.Fprintln(out, base64.StdEncoding.EncodeToString(signedSend(at)))
			}
			return out.Flush()
		}},
	)
	if err := svrcmd.Execute(root, "", ""); err != nil {
		os.Exit(1)
	}
}
